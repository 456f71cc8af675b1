// A cantilever beam with a stop at its tip in Siconos' Moreau-Jean time stepping.
//
//   beam VARIANT DOFS [STEP = 1e-4] [STEPS = 1000] [RESTITUTION = 0.5]
//
// The model is (3.9) of Paoli (2001): U'' + A U = G with d nodes, dx = 1/d,
// A = B^T B / dx^4, B unit lower triangular with the diagonals 1, -2, 1; mass 1;
// G = d at the tip from t = 0 on; at rest at t = 0; gap 0.1 - U_d >= 0 with Newton's
// impact law; theta = 1/2. One JSON object is printed; only the loop is timed, with
// the iteration matrix W = M + h^2 theta^2 A factored before it.
//
// Siconos multiplies by A four times a step (it computes the residual twice), through
// Boost's uBLAS, and solves with W twice. The variants:
//
//   dense         all matrices dense; W by LAPACK's LU
//   sparse        all matrices SPARSE; W by CSparse's LU
//   sparse-mumps  the same, W by MUMPS, the package's default: slower for such a W
//   banded        W as in sparse, but A is exchanged for a BANDED copy of it once W is
//                 made: W cannot be BANDED ("not implemented for the given matrix type")
//   force         W as in sparse, but A is exchanged for a ZERO matrix once W is made,
//                 and G - A (q + h theta v), computed here, is given as external force:
//                 the same step without uBLAS' product
//
// Of the products only `force` is O(d) in Debian 12's 4.4.0. uBLAS computes each entry
// of SPARSE times vector from the whole row, and that build has uBLAS' checks on (no
// NDEBUG), which makes BANDED O(d^2) as well; with -DNDEBUG that one is O(d).
// Cholesky's factors (setIsWSymmetricDefinitePositive) gain nothing in any variant.
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <SiconosKernel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using std::make_shared;

static const double THETA = 0.5, GAP = 0.1;

// The three upper diagonals of A.
struct Stiffness {
  std::vector<double> diagonal[3];

  explicit Stiffness(unsigned d) {
    const double s = double(d) * d * d * d;
    for (unsigned k = 0; k < 3; ++k)
      diagonal[k].assign(d - k, s * (k == 0 ? 6 : k == 1 ? -4 : 1));
    diagonal[0][d - 1] = s;
    diagonal[0][d - 2] = 5 * s;
    diagonal[1][d - 2] = -2 * s;
  }

  void fill(SiconosMatrix& matrix) const {
    const unsigned d = diagonal[0].size();
    for (unsigned i = 0; i < d; ++i)  // row by row, each from left to right
      for (unsigned j = i < 2 ? 0 : i - 2; j < std::min(d, i + 3); ++j)
        matrix.setValue(i, j, i < j ? diagonal[j - i][i] : diagonal[i - j][j]);
  }

  // f -= A x
  void subtract_product(const std::vector<double>& x, double* f) const {
    const unsigned d = x.size();
    for (unsigned i = 0; i < d; ++i) f[i] -= diagonal[0][i] * x[i];
    for (unsigned k = 1; k < 3; ++k)
      for (unsigned i = 0; i + k < d; ++i) {
        f[i] -= diagonal[k][i] * x[i + k];
        f[i + k] -= diagonal[k][i] * x[i];
      }
  }
};

// Has W factored by CSparse. The solver cannot be chosen before SimpleMatrix::Factorize,
// which makes the matrix that holds the choice: so it is changed, and W factored, anew.
static void use_csparse(SimpleMatrix& w, unsigned d) {
  NumericsMatrix* m = w.numericsMatrix();
  NSM_linearSolverParams_free(m->matrix2->linearSolverParams);
  m->matrix2->linearSolverParams = nullptr;
  NM_setSparseSolver(m, NSM_CSPARSE);
  NM_set_LU_factorized(m, false);
  SiconosVector zero(d);
  zero.zero();
  w.Solve(zero);
}

static void run(const std::string& variant, unsigned d, double h, unsigned steps, double e) {
  const bool dense = variant == "dense", force = variant == "force";
  const Siconos::UBLAS_TYPE type = dense ? Siconos::DENSE : Siconos::SPARSE;
  const Stiffness a(d);

  auto mass = make_shared<SimpleMatrix>(d, d, type, 5 * d);
  for (unsigned i = 0; i < d; ++i) mass->setValue(i, i, 1.0);
  auto stiffness = make_shared<SimpleMatrix>(d, d, type, 5 * d);
  a.fill(*stiffness);
  auto load = make_shared<SiconosVector>(d, 0.0);
  load->setValue(d - 1, d);
  auto q0 = make_shared<SiconosVector>(d, 0.0), v0 = make_shared<SiconosVector>(d, 0.0);
  auto beam = make_shared<LagrangianLinearTIDS>(q0, v0, mass);
  beam->setKPtr(stiffness);
  beam->setFExtPtr(load);

  // Dense in all variants: with a SPARSE one 4.4.0 takes wrong impulses (it does not copy
  // the solution of W X = H^T back), and the beam goes through the stop.
  auto jacobian = make_shared<SimpleMatrix>(1, d);
  jacobian->zero();
  jacobian->setValue(0, d - 1, -1.0);
  auto stop = make_shared<Interaction>(
      make_shared<NewtonImpactNSL>(e),
      make_shared<LagrangianLinearTIR>(jacobian, make_shared<SiconosVector>(1, GAP)));

  auto model = make_shared<NonSmoothDynamicalSystem>(0.0, (steps + 10) * h);
  model->insertDynamicalSystem(beam);
  model->link(stop, beam);
  auto integrator = make_shared<MoreauJeanOSI>(THETA);
  auto simulation = make_shared<TimeStepping>(model, make_shared<TimeDiscretisation>(0.0, h),
                                              integrator, make_shared<LCP>(SICONOS_LCP_LEMKE));
  simulation->setNewtonOptions(SICONOS_TS_LINEAR);
  simulation->initialize();
  SP::SimpleMatrix w = integrator->W(beam);
  if (!w->isFactorized()) w->Factorize();
  if (!dense && variant != "sparse-mumps") use_csparse(*w, d);
  if (variant == "banded") {
    auto banded = make_shared<SimpleMatrix>(d, d, Siconos::BANDED, 2, 2);
    a.fill(*banded);
    beam->setKPtr(banded);
  } else if (force) {
    beam->setKPtr(make_shared<SimpleMatrix>(d, d, Siconos::ZERO));
  }

  const SiconosVector& lambda = *stop->lambda(1);
  double *f = load->getArray(), *q = beam->q()->getArray(), *v = beam->velocity()->getArray();
  std::vector<double> x(d);
  unsigned positive = 0, first = 0;
  const auto start = std::chrono::steady_clock::now();
  for (unsigned k = 1; k <= steps; ++k) {
    if (force) {
      for (unsigned i = 0; i < d; ++i) x[i] = q[i] + h * THETA * v[i];
      std::fill(f, f + d - 1, 0.0);
      f[d - 1] = d;
      a.subtract_product(x, f);
    }
    simulation->computeOneStep();
    if (lambda(0) > 0 && positive++ == 0) first = k;
    simulation->nextStep();
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

  std::printf("{\"code\": \"siconos\", \"variant\": \"%s\", \"dofs\": %u, \"step\": %.17g, "
              "\"restitution\": %.17g, \"steps\": %u, \"wall_s\": %.9g, \"us_per_step\": %.6g, "
              "\"final_u\": %.17g, \"final_v\": %.17g, \"positive_multipliers\": %u, "
              "\"first_positive\": %u}\n",
              variant.c_str(), d, h, e, steps, wall.count(), 1e6 * wall.count() / steps,
              q[d - 1], v[d - 1], positive, first);
}

int main(int argc, char** argv) {
  const std::string variant = argc > 1 ? argv[1] : "";
  const int d = argc > 2 ? std::atoi(argv[2]) : 0;
  const double h = argc > 3 ? std::atof(argv[3]) : 1e-4;
  const int steps = argc > 4 ? std::atoi(argv[4]) : 1000;
  const double e = argc > 5 ? std::atof(argv[5]) : 0.5;
  const std::vector<std::string> known = {"dense", "sparse", "sparse-mumps", "banded", "force"};
  if (argc > 6 || std::count(known.begin(), known.end(), variant) == 0 || d < 3 || !(h > 0) ||
      steps < 1 || !(e >= 0 && e <= 1)) {
    std::fprintf(stderr, "usage: beam dense|sparse|sparse-mumps|banded|force DOFS "
                         "[STEP [STEPS [RESTITUTION]]]\n");
    return 2;
  }
  try {
    run(variant, d, h, steps, e);
  } catch (...) {
    Siconos::exception::process();
    return 1;
  }
}
